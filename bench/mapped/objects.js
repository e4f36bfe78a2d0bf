const count = Number(process.argv[2]);
const kept = [];
for (let i = 0; i < count; i++) kept.push({ i, name: "x" + i });
console.log(kept.length);
