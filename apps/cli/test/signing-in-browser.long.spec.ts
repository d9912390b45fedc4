/**
 * Tests sign-in from the command line with a browser of the same machine: real API, real sign-in, a real
 * Chromium.
 */
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { hasBrowser } from '../src/session/browser.ts';
import { signInByBrowser } from '../src/session/loopback.ts';
import { fetchMetadata } from '../src/session/oauth.ts';
import { type StartedMuster, useMuster } from './muster.ts';

const muster = useMuster({ demoAccount: 'ana@example.com' });
const program = findBrowser();
const itInBrowser = program === undefined ? it.skip : it;

let people: People;
let browser: Browser | undefined;
let axe = '';
/**
 * The folder of the program that opens pages for the command line, and the file of the addresses it opened.
 */
let [bin, opened]: [string, string] = ['', ''];
let count = 0;
beforeAll(async () => {
  people = await muster.world.org();
  bin = path.join(muster.home(), 'bin');
  await mkdir(bin);
  if (program !== undefined)
    browser = await chromium.launch({ executablePath: program, args: browserFlags() });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
afterAll(async () => {
  await browser?.close();
});
beforeEach(async () => {
  count += 1;
  opened = path.join(muster.home(), `opened-${count}`);
  await writeBrowserScript(`printf '%s' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'`);
});

/** Sets the script with which the machine opens a page. */
async function writeBrowserScript(script: string): Promise<void> {
  const file = path.join(bin, 'xdg-open');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

/** Runs login as on a machine with a screen. */
const login = (args: readonly string[] = [], env: Record<string, string> = {}): StartedMuster =>
  muster.start(['login', muster.url(), '--profile', `p${count}`, ...args], {
    env: { DISPLAY: ':0', PATH: `${bin}:${process.env['PATH']}`, ...env },
  });

/** Returns the opened address, once there is one. */
async function waitForOpenedAddress(): Promise<string> {
  let address = '';
  await waitUntil(async () => (address = await readFile(opened, 'utf8').catch(() => '')) !== '');
  return address;
}

/** Opens the page of the command line as a person who signs in with the demo button. */
async function openPage(colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  if (browser === undefined) throw new Error('there is no browser');
  const page = await browser.newPage({ colorScheme });
  await page.goto(await waitForOpenedAddress());
  await page.getByRole('button', { name: 'Sign in as' }).click();
  await page.getByRole('heading', { name: 'Connect Muster on the command line' }).waitFor();
  return page;
}

const readStoredProfile = async (name: string): Promise<unknown> => {
  const text = await readFile(path.join(muster.home(), 'muster/profiles.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { profiles?: Record<string, unknown> }).profiles?.[name];
};

describe('muster login with a browser', () => {
  itInBrowser.each(['light', 'dark'] as const)(
    'opens it, and goes on by itself once the person has consented: %s',
    async (scheme) => {
      const command = login();
      const page = await openPage(scheme);
      expect(await page.getByText('a program on this computer').count()).toBe(1);
      await page.getByRole('radio', { name: /^New agent/ }).check();
      await page.locator('input[name=agentName]').fill(`Terminal ${scheme}`);
      await page.getByLabel('All projects').check();
      await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect([width, await page.evaluate(overflow)]).toEqual([width, 0]);
        const shots = process.env['SHOTS'];
        if (shots !== undefined) await page.screenshot({ path: `${shots}/signed-in-${width}-${scheme}.png` });
      }
      await page.evaluate(axe);
      const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
      expect(violations.map(({ id }) => id)).toEqual([]);
      expect([await command.exitCode, command.outputText()]).toEqual([
        0,
        expect.stringContaining('Signed in to Acme'),
      ]);
      expect(command.outputText()).not.toContain('Type ');
      expect(await readStoredProfile(`p${count}`)).toMatchObject({ baseUrl: muster.url(), oauth: {} });
      const who = await muster.run(['whoami', '--json', '--profile', `p${count}`]);
      expect(JSON.parse(who.out)).toMatchObject({
        ...{ member: { id: people.ana.me.memberId }, agent: { name: `Terminal ${scheme}` } },
        token: { scopes: ['read', 'write'] },
      });
      // The command line stopped listening after the first redirect.
      await expect(fetch(await waitForOpenedAddress())).rejects.toThrow();
      await page.context().close();
    },
  );

  itInBrowser('says that the person refused, there and here, and keeps nothing', async () => {
    const command = login();
    const page = await openPage();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    expect([await command.exitCode, command.outputText()]).toEqual([
      3,
      expect.stringContaining('muster: the request was denied in the browser\n'),
    ]);
    expect(await readStoredProfile(`p${count}`)).toBeUndefined();
    await page.context().close();
  });

  itInBrowser('takes one answer, of its server to its own question', async () => {
    const command = login();
    const page = await openPage();
    const start = await waitForOpenedAddress();
    const asked = await fetch(start, { redirect: 'manual' });
    const question = new URL(asked.headers.get('location') ?? '').searchParams;
    const [state, issuer] = [question.get('state') ?? '', muster.url()];
    const answer = async (said: Record<string, string>, headers: Record<string, string> = {}) => {
      const query = new URLSearchParams({ code: 'stolen', ...said }).toString();
      return (await fetch(`${start}callback?${query}`, { headers })).status;
    };
    expect(await answer({ iss: issuer })).toBe(400);
    expect(await answer({ state: 'another', iss: issuer })).toBe(400);
    // This redirect names another authorization server as its issuer (a mix-up attack).
    expect(await answer({ state, iss: 'https://evil.example' })).toBe(400);
    expect(await answer({ state })).toBe(400);
    expect(await answer({ state: 'another', error: 'access_denied', iss: issuer })).toBe(400);
    expect((await fetch(`${start}callback?state=${state}&iss=${issuer}`, { method: 'POST' })).status).toBe(
      400,
    );
    // Some browsers prefetch an address, so it arrives twice. A code that is used twice would revoke its
    // tokens.
    const back = Promise.withResolvers<string>();
    await page.route('**/oauth/authorize/*', async (route) => {
      const sentBack = await route.fetch({ maxRedirects: 0 });
      back.resolve(sentBack.headers()['location'] ?? '');
      await route.abort();
    });
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const address = await back.promise;
    await Promise.allSettled([fetch(address), fetch(address)]);
    expect([await command.exitCode, command.outputText()]).toEqual([
      0,
      expect.stringContaining('Signed in to Acme'),
    ]);
    expect((await muster.run(['whoami', '--profile', `p${count}`])).code).toBe(0);
    await page.context().close();
  });

  it('says why where the server gives no token for what it was sent back with', async () => {
    const command = login();
    const start = await waitForOpenedAddress();
    const asked = await fetch(start, { redirect: 'manual' });
    const state = new URL(asked.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const query = new URLSearchParams({ code: 'made-up', state, iss: muster.url() }).toString();
    const page = await fetch(`${start}callback?${query}`);
    expect([page.status, await page.text()]).toEqual([
      502,
      expect.stringContaining('The terminal shows the reason'),
    ]);
    expect([await command.exitCode, command.outputText()]).toEqual([
      3,
      expect.stringContaining('grant request'),
    ]);
  });

  it.each([
    ['the browser cannot be opened', [], 'exit 3', {}],
    ['there is none', [], '', { DISPLAY: '' }],
    ['the person sits at another machine', [], '', { SSH_CONNECTION: '192.0.2.1 5 192.0.2.2 22' }],
    ['it is asked for', ['--device'], '', {}],
  ])('shows a code where %s', async (_where, args, script, env) => {
    if (script !== '') await writeBrowserScript(script);
    const command = login(args, env);
    await command.waitForOutput(/^Type +[B-Z]{4}-[B-Z]{4}$/m);
    expect(await readFile(opened, 'utf8').catch(() => 'not opened')).toBe('not opened');
    command.kill('SIGINT');
    await command.exitCode;
  });

  it('shows the address too, where a browser says that it opened and shows nothing', async () => {
    await writeBrowserScript('exit 0');
    const command = login();
    const [, address = ''] = await command.waitForOutput(/^ {2}(http:\/\/127\.0\.0\.1:\d+\/)$/m);
    const { status, headers } = await fetch(address, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([
      302,
      expect.stringContaining(`${muster.url()}/oauth/authorize?client_id=muster-cli&`),
    ]);
    command.kill('SIGINT');
    await command.exitCode;
  });
});

describe('the wait for a browser', () => {
  it('ends where no answer comes in time', async () => {
    const metadata = await fetchMetadata(muster.url());
    if (metadata === undefined) throw new Error('there is no sign-in');
    const opened = Promise.withResolvers<string>();
    const given = await signInByBrowser(metadata, 'read', {
      ...{ onStarted: opened.resolve, openUrl: async () => undefined, timeoutMillis: 50 },
    });
    expect(given).toBeUndefined();
    await expect(fetch(await opened.promise)).rejects.toThrow();
  });

  it('answers nothing under another name, which a page of another site could have given to this machine', async () => {
    const metadata = await fetchMetadata(muster.url());
    if (metadata === undefined) throw new Error('there is no sign-in');
    const statuses: (number | undefined)[] = [];
    await signInByBrowser(metadata, 'read', {
      ...{ onStarted: () => undefined, timeoutMillis: 60_000 },
      openUrl: async (url, failed) => {
        for (const host of [new URL(url).host, `evil.example:${new URL(url).port}`]) {
          const [answer] = (await once(get(url, { headers: { host } }), 'response')) as [IncomingMessage];
          statuses.push(answer.resume().statusCode);
        }
        failed();
      },
    });
    expect(statuses).toEqual([302, 400]);
  });
});

it.each([
  [{ DISPLAY: ':0' }, 'linux', true],
  [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true],
  [{ WSL_DISTRO_NAME: 'Debian' }, 'linux', true],
  [{}, 'linux', false],
  [{}, 'darwin', true],
  [{}, 'win32', true],
  [{ SSH_TTY: '/dev/pts/0' }, 'darwin', false],
  [{ SSH_CLIENT: '192.0.2.1 5 22', DISPLAY: 'localhost:10.0' }, 'linux', false],
] as const)('a machine with %j on %s has a browser for its person: %s', (env, platform, has) => {
  expect(hasBrowser(env, platform)).toBe(has);
});
