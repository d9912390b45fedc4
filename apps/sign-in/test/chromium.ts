/**
 * The machine's Chromium with a virtual passkey authenticator. `npm test` installs Debian's Chromium if it is
 * missing.
 */
import { it } from '@jest/globals';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

const program = findBrowser();

/** Declares a test that needs a browser; it is reported as skipped without one. */
export const inBrowser = program === undefined ? it.skip : it;

/** Launches the browser; undefined if there is none. */
export async function launch(): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  return chromium.launch({ executablePath: program, args: browserFlags() });
}

export interface BrowserDevice {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
  /** Sets whether user verification succeeds. */
  readonly setUserVerified: (does: boolean) => Promise<void>;
}

/** Opens a page with a virtual authenticator that stores passkeys. */
export async function createDeviceIn(context: BrowserContext): Promise<BrowserDevice> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    ...{ page, cdp, authenticatorId },
    setUserVerified: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}
