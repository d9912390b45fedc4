/** The browser of the machine on which the command line runs. */

/** Returns true if a browser on this machine can show pages to the person at this terminal. */
export function hasBrowser(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  // In an SSH session the person sits at another machine.
  if (['SSH_CONNECTION', 'SSH_CLIENT', 'SSH_TTY'].some(isSet)) return false;
  if (platform === 'win32' || platform === 'darwin') return true;
  return ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'].some(isSet);
}

/**
 * Opens a page. Calls `failed` if the system reports a failure; most systems report it immediately, and some
 * never do.
 */
export async function openBrowser(url: string, onFailure: () => void): Promise<void> {
  try {
    const { default: openPage } = await import('open');
    const child = await openPage(url);
    child.once('exit', (code) => {
      if (code !== 0) onFailure();
    });
    if (child.exitCode !== null && child.exitCode !== 0) onFailure();
  } catch {
    onFailure();
  }
}
