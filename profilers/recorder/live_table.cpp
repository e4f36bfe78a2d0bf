#include "profilers/recorder/live_table.h"

#include "profilers/recorder/block_table.h"

namespace memduel::recorder {

namespace {

BlockTable<LiveRecord> live;

}  // namespace

bool insert_live(const LiveRecord& record) {
  return live.insert(record);
}

bool erase_live(const void* block, LiveRecord& erased) {
  return live.erase(block, erased);
}

void visit_live(void (*visit)(const LiveRecord&)) {
  live.each(visit);
}

void forget_live() {
  live.clear();
}

}  // namespace memduel::recorder
