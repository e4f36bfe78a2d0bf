#include "reports/formats/html.h"

#include "reports/formats/model_json.h"
#include "reports/formats/page.h"
#include "reports/tables/encode.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_html(const ReportModel& model) {
  Gzip data;
  write_report_model(model, [&](std::string_view text) { data.write(text); });
  Page page{model.title, data.finish(), viewer_script(), viewer_style()};
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i)
    page.attachments.push_back({flame_id(i), model.flames.shown[i].packed});
  return render_page(page);
}

}  // namespace memduel
