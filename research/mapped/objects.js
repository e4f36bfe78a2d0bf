const count = Number(process.argv[2]);
const kept = [];
for (let i = 0; i < count; i++) kept.push({ i, name: "x" + i });
if (process.argv[3]) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.argv[3]));
console.log(kept.length);
