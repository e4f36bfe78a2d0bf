#include "reports/flame_page.h"

#include "reports/encode.h"
#include "reports/page.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_flame_page(const std::string& title, const std::string& data) {
  return render_page({title + " · flame graph", gzip(data), flame_script(), flame_style()});
}

}  // namespace memduel
