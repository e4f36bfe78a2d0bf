#include "reports/html.h"

#include "reports/model_json.h"
#include "reports/page.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_html(const ReportModel& model) {
  // Bytes that are not UTF-8 (a log line may hold any) become U+FFFD here.
  const std::string data =
      report_model_to_json(model).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Page page{model.title, data, viewer_script(), viewer_style()};
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i)
    page.attachments.push_back({flame_id(i), model.flames.shown[i].packed});
  return render_page(page);
}

}  // namespace memduel
