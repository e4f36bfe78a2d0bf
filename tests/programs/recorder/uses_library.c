// Ends at once; what it allocates is its library's.
int blocks_of_the_library(void);

int main(void) {
  return blocks_of_the_library() == 100 ? 0 : 1;
}
