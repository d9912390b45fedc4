import { aptGet, aptKnows, canInstall, findProgram } from './apt.ts';

/** A program that some specs run, and are skipped without. */
interface OptionalProgram {
  readonly name: string;
  /** What is not tried without it. */
  readonly loss: string;
  /** What it may be called on the PATH. */
  readonly programs: readonly string[];
  /** Of Debian: the first of them that there is. */
  readonly packages: readonly [string, ...string[]];
  /** Names one that is there. */
  readonly variable: string;
}

const chromium: OptionalProgram = {
  name: 'Chromium',
  loss: 'the console is not tried in a browser',
  programs: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
  packages: ['chromium-headless-shell', 'chromium'],
  variable: 'CHROMIUM',
};
const caddy: OptionalProgram = {
  name: 'Caddy',
  loss: 'the edge of docker-compose.yml is not tried',
  programs: ['caddy'],
  packages: ['caddy'],
  variable: 'CADDY',
};

/** Where the program is; undefined where there is none. */
export const findCaddy = (): string | undefined => process.env['CADDY'] ?? findProgram(caddy.programs);

/**
 * Sees to it that the programs are there; on Debian, where we are root and may, they are installed after saying so. Ubuntu
 * has no package of Chromium, but a way to a snap that does not run here.
 */
export async function provideOptionalPrograms(say: (line: string) => void): Promise<void> {
  const missing = [chromium, caddy].filter(
    ({ programs, variable }) => process.env[variable] === undefined && findProgram(programs) === undefined,
  );
  if (missing.length === 0) return;
  const advice = missing
    .map(
      ({ name, loss, packages: [packageName], variable }) =>
        `${name} is missing, and ${loss}: install it (Debian: "sudo apt-get install ${packageName}"), or set ${variable} to one that is there`,
    )
    .join('\n');
  if (!canInstall()) {
    say(advice);
    return;
  }
  say(`Missing on this machine, and installed with apt-get: ${missing.map(({ name }) => name).join(', ')}`);
  await aptGet(advice, 'update', '-q');
  const packages = await Promise.all(missing.map(({ packages: names }) => aptKnows(names)));
  await aptGet(advice, 'install', '-y', '-q', '--no-install-recommends', ...packages);
}
