kept = Array.new(ARGV[0].to_i) { |i| "x#{i}" }
puts kept.size
