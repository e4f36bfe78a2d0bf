// Holds 16 MiB more in each round.
const held = [];
for (let round = 1; round <= Number(process.argv[2]); ++round) {
  console.log(`round ${round}`);
  held.push(Buffer.alloc(16 << 20, 1));
}
