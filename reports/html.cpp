#include "reports/html.h"

#include "reports/model_json.h"
#include "reports/page.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_html(const ReportModel& model) {
  // Bytes that are not UTF-8 (a log line may hold any) become U+FFFD here.
  const std::string data =
      report_model_to_json(model).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return render_page({model.title, data, viewer_script(), viewer_style()});
}

}  // namespace memduel
