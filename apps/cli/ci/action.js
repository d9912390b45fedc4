// The file that GitHub starts. It passes the inputs as arguments and variables to `muster report`, which is
// main.js in the same folder.
const input = (name) => (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim();

process.env.MUSTER_BASE_URL = input('base-url');
process.env.MUSTER_TOKEN = input('token');
const words = ['report'];
for (const name of ['checks', 'execution']) if (input(name) !== '') words.push(`--${name}`, input(name));
process.argv.splice(2, process.argv.length, ...words);
await import('./main.js');
