/** The machine's Chromium with a device in it that has passkeys. `npm test` installs Debian's where it is missing. */
import { it } from '@jest/globals';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

const program = findBrowser();

/** What needs a browser; without one it is skipped, and counted so. */
export const inBrowser = program === undefined ? it.skip : it;

/** Undefined where there is none. */
export async function launch(): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  return chromium.launch({ executablePath: program, args: browserFlags() });
}

export interface Device {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
  /** Whether its person shows themselves when they are asked. */
  readonly verify: (does: boolean) => Promise<void>;
}

/** A page whose browser has a virtual authenticator that keeps passkeys. */
export async function deviceIn(context: BrowserContext): Promise<Device> {
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
    verify: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}
