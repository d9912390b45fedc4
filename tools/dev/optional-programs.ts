import { aptGet, aptKnows, canInstall, findProgram } from './apt.ts';

/** A program that some specs need. They are skipped without it. */
interface OptionalProgram {
  readonly name: string;
  /** The consequence for the tests if the program is missing. */
  readonly loss: string;
  /** The names that the program may have on the PATH. */
  readonly programs: readonly string[];
  /** The Debian packages. The first existing one is installed. */
  readonly packages: readonly [string, ...string[]];
  /** The variable that names an installed program, if there is one. */
  readonly variable?: string;
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
const shells = ['fish', 'zsh'].map((name): OptionalProgram => ({
  ...{ name, loss: 'its completion is not tried', programs: [name], packages: [name] },
}));

/** Returns the path of the program, or undefined if it is not installed. */
export const findCaddy = (): string | undefined => process.env['CADDY'] ?? findProgram(caddy.programs);

/**
 * Ensures that the programs are installed. On Debian, as root, it reports and installs missing ones. Ubuntu's
 * package of Chromium only refers to a snap that does not run here.
 */
export async function provideOptionalPrograms(say: (line: string) => void): Promise<void> {
  const missing = [chromium, caddy, ...shells].filter(
    ({ programs, variable = '' }) =>
      process.env[variable] === undefined && findProgram(programs) === undefined,
  );
  if (missing.length === 0) return;
  const advice = missing
    .map(
      ({ name, loss, packages: [packageName], variable }) =>
        `${name} is missing, and ${loss}: install it (Debian: "sudo apt-get install ${packageName}")${variable === undefined ? '' : `, or set ${variable} to one that is there`}`,
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
