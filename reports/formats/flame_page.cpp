#include "reports/formats/flame_page.h"

#include "reports/formats/page.h"
#include "reports/tables/encode.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_flame_page(const std::string& title, const std::string& data) {
  return render_page({title + " · flame graph", gzip(data), flame_script(), flame_style()});
}

}  // namespace memduel
