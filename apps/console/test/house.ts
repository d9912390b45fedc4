/** Starts the built console with an API of its own, members with tokens, and browser windows. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type Client, createClient, httpTransport, retrying } from '@muster/client';
import { type Service } from '@muster/http';
import { type AppProcess, findFreePort, type People, startApp, useWorld, type World } from '@muster/testing';
import { pino } from 'pino';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { createConsole } from '../src/app.ts';
import { makeSite, type ConsoleSite } from '../src/build.ts';
import { faultsOf, goTo, launch, windowsOf } from './browser.ts';
import { useMails } from './mails.ts';

export interface Window {
  readonly page: Page;
  /** The problems observed so far. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export interface House {
  readonly world: World;
  url(): string;
  site(): ConsoleSite;
  folder(): string;
  /** Returns a typed client with this token, over HTTP. */
  client(token: string): Client;
  /** Opens an isolated window at a page below /console, signed in by the token. */
  open(token: string, address?: string, options?: BrowserContextOptions): Promise<Window>;
  /** Opens a window without signing in. */
  visit(address: string, options?: BrowserContextOptions): Promise<Window>;
  /**
   * Signs in with the link of an e-mail, in a new window that leads to a page below /console. This only works
   * with the option `hasSignIn`, which starts the sign-in service.
   */
  signIn(email: string, address?: string): Promise<Window>;
  /** Requests a link by e-mail on the sign-in page, and returns the link's address. */
  askForLink(page: Page, email: string): Promise<string>;
  /** Navigates within the same window like a link, since a token lives only as long as its page. */
  go(page: Page, address: string): Promise<void>;
  /** Stops the API, runs the work, and starts the API again at the same address. */
  whileApiIsAway(work: () => Promise<void>): Promise<void>;
}

interface HouseOptions {
  readonly hasSignIn?: boolean;
  /** True if the windows must render identically on all machines. */
  readonly isForPictures?: boolean;
}

export function useHouse({ hasSignIn = false, isForPictures = false }: HouseOptions = {}): House {
  const world = useWorld({});
  const mails = useMails();
  let [folder, port] = ['', 0];
  let site: ConsoleSite | undefined;
  let service: Service | undefined;
  let api: AppProcess | undefined;
  let signIn: AppProcess | undefined;
  let browser: Browser | undefined;
  let windows: ReturnType<typeof windowsOf> | undefined;
  let consoleUrl = '';

  const url = (): string => `http://127.0.0.1:${port}`;
  const startApi = (): Promise<AppProcess> =>
    startApp('apps/coordination-api/src/main.ts', {
      ...{ DATABASE_URL: world.database.url, CONSOLE_URL: consoleUrl, PORT: String(port) },
      FILES_FOLDER: path.join(path.dirname(folder), 'files'),
      ...(signIn !== undefined && { SIGN_IN_URL: signIn.url, BASE_URL: url() }),
    });

  beforeAll(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'muster-console-')), 'site');
    site = await makeSite(folder);
    service = createConsole(folder, pino({ level: 'silent' }));
    consoleUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
    port = await findFreePort();
    if (hasSignIn)
      signIn = await startApp('apps/sign-in/src/main.ts', {
        ...{ DATABASE_URL: world.database.url, BASE_URL: url(), MAIL_FOLDER: mails.folder() },
        // All sign-ins of these tests come from one address, so its rate limit must be high.
        LIMIT_SIGN_IN: '1000/1000',
        ...{ TRUST_PROXY: '127.0.0.1', HOME_PATH: '/console/' },
      });
    api = await startApi();
    // A headless browser must be told how to render fonts like a browser with windows.
    browser = await launch(isForPictures ? ['--font-render-hinting=slight', '--disable-lcd-text'] : []);
    if (browser !== undefined) windows = windowsOf(browser);
    // A busy machine builds the pages and starts two programs and a browser slowly.
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
    await signIn?.stop();
    await service?.stop();
    await rm(path.dirname(folder), { recursive: true, force: true });
  });

  const visit: House['visit'] = async (address, options = {}) => {
    if (windows === undefined) throw new Error('there is no browser');
    const { page, giveBack } = await windows.take({ viewport: { width: 1440, height: 900 }, ...options });
    const { found: faults, leave } = faultsOf(page);
    await goTo(page, `${url()}/console${address}`);
    const close = async (): Promise<void> => {
      leave();
      await giveBack();
    };
    return { page, faults, close };
  };

  const askForLink: House['askForLink'] = async (page, email) => {
    const before = await mails.count(email);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'E-mail me a sign-in link' }).click();
    return mails.link(email, before + 1);
  };

  return {
    world,
    url,
    visit,
    folder: () => folder,
    askForLink,
    signIn: async (email, address = '/') => {
      const window = await visit(address);
      await goTo(window.page, await askForLink(window.page, email));
      await window.page.getByRole('button', { name: 'Sign in' }).click();
      return window;
    },
    site: () => {
      if (site === undefined) throw new Error('nothing was built');
      return site;
    },
    client: (token) => createClient(retrying(httpTransport({ baseUrl: url(), token }))),
    open: async (token, address = '/', options) => {
      const window = await visit(address, options);
      await window.page.getByLabel('Token').fill(token);
      await window.page.getByRole('button', { name: 'Open the console' }).click();
      await window.page.getByRole('navigation', { name: 'Main' }).waitFor();
      return window;
    },
    go: async (page, address) => {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${address}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
    },
    whileApiIsAway: async (work) => {
      await api?.stop();
      await work();
      api = await startApi();
    },
  };
}

/** Creates a project with a column for each status, and stories in them. */
export async function arrange(
  house: House,
  { ana }: People,
  titles: Readonly<Record<'backlog' | 'ready' | 'in_progress', readonly string[]>>,
) {
  const client = house.client(ana.me.token);
  const { project, columns } = await client.projects.create({ key: 'WEB', name: 'Web shop' });
  const stories = [];
  for (const [status, list] of Object.entries(titles))
    for (const title of list) {
      const made = await client.stories.create({
        ...{ projectId: project.id, title, status: status as keyof typeof titles },
      });
      stories.push(made.story);
    }
  return { project, columns, stories };
}
