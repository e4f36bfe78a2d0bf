kept = Array.new(ARGV[0].to_i) { |i| "x#{i}" }
sleep ARGV[1].to_i / 1000.0 if ARGV[1]
puts kept.size
