import { aptGet, canInstall, findProgram } from './apt.ts';

const ADVICE =
  'Chromium is missing, and the console is not tried in a browser: install it (Debian: "sudo apt-get install chromium"), ' +
  'or set CHROMIUM to one that is there';

/**
 * Sees to it that there is a browser to try the console in; on Debian, where we are root and may, it is installed after
 * saying so. Ubuntu has no package of it, but a way to a snap that does not run here.
 */
export async function provideBrowser(say: (line: string) => void): Promise<void> {
  if (process.env['CHROMIUM'] !== undefined) return;
  if (findProgram(['chromium', 'chromium-browser', 'google-chrome']) !== undefined) return;
  if (!canInstall()) {
    say(ADVICE);
    return;
  }
  say('Chromium is missing on this machine: installing it with apt-get install chromium');
  await aptGet(ADVICE, 'update', '-q');
  await aptGet(ADVICE, 'install', '-y', '-q', '--no-install-recommends', 'chromium');
}
