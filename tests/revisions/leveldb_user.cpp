// Writes 40,000 records to a database, compacts it, and reads all of them back.
#include <leveldb/db.h>

#include <cstdio>
#include <memory>
#include <string>

int main(int count, char** words) {
  if (count != 2) return 2;
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size =
      64 << 20;  // so that nothing is compacted before all is written, whenever threads run
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, words[1], &opened).ok()) return 1;
  const std::unique_ptr<leveldb::DB> database(opened);
  for (int i = 0; i < 40000; ++i)
    database->Put({}, "key" + std::to_string(i * 7919 % 40009), std::string(100, 'v'));
  database->CompactRange(nullptr, nullptr);
  std::size_t read = 0;
  const std::unique_ptr<leveldb::Iterator> all(database->NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next()) read += all->value().size();
  std::printf("read %zu bytes\n", read);
}
