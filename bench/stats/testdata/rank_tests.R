# Expected values of the rank tests, from R's own exact tests:
#   Rscript bench/stats/testdata/rank_tests.R > bench/stats/testdata/rank_tests.json
# R counts no ties, so the samples have none.
number <- function(x) format(x, digits = 17, scientific = TRUE, trim = TRUE)
list_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
set.seed(20)
mann_whitney <- function(m, n, shift) {
  a <- round(rnorm(m), 6); b <- round(rnorm(n) + shift, 6)
  t <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE, conf.level = 0.95)
  u <- wilcox.test(b, a, exact = TRUE, conf.int = TRUE, conf.level = 0.90)
  sprintf('{"a": %s, "b": %s, "p": %s, "estimate": %s, "low95": %s, "high95": %s, "low90": %s, "high90": %s}',
          list_of(a), list_of(b), number(t$p.value), number(t$estimate), number(t$conf.int[1]),
          number(t$conf.int[2]), number(u$conf.int[1]), number(u$conf.int[2]))
}
adjusted <- function(p) {
  sprintf('{"p": %s, "holm": %s, "benjamini_hochberg": %s}', list_of(p), list_of(p.adjust(p, "holm")),
          list_of(p.adjust(p, "BH")))
}
exceedance <- function(k, n) {
  t <- binom.test(k, n); one <- binom.test(k, n, alternative = "less")
  sprintf('{"hits": %d, "n": %d, "low": %s, "high": %s, "upper95": %s}', k, n, number(t$conf.int[1]),
          number(t$conf.int[2]), number(one$conf.int[2]))
}
join <- function(items) paste0("[\n    ", paste(items, collapse = ",\n    "), "\n  ]")
cat("{\n")
cat('  "mann_whitney": ', join(c(mann_whitney(5, 5, 0.5), mann_whitney(5, 5, 4), mann_whitney(6, 6, 0),
  mann_whitney(7, 7, 1), mann_whitney(7, 6, -1), mann_whitney(12, 12, 0.7))), ",\n", sep = "")
cat('  "adjusted": ', join(c(adjusted(c(0.01, 0.02, 0.03)), adjusted(c(0.001, 0.2, 0.04, 0.04, 0.6)),
  adjusted(c(0.05)))), ",\n", sep = "")
cat('  "clopper_pearson": ', join(c(exceedance(0, 10), exceedance(1, 20), exceedance(5, 100),
  exceedance(20, 20))), ",\n", sep = "")
cat('  "wilcox_cdf": {"m": 7, "n": 5, "p": ', list_of(pwilcox(0:35, 7, 5)), "}\n", sep = "")
cat("}\n")
