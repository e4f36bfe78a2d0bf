#include "support/catalog_files.h"

namespace memduel {

const char* const kConfigsFolder = MEMDUEL_CONFIGS;
const char* const kDatasetsFolder = MEMDUEL_DATASETS;

}  // namespace memduel
