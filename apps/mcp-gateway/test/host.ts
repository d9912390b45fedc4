/** A host of MCP Apps in a real browser: the protocol's official bridge around a sandboxed frame. */
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { buildSync } from 'esbuild';
import { type Browser, chromium, type FrameLocator, type Page } from 'playwright-core';
import { type ToolAnswer } from './gateway.ts';

const program = findBrowser();

const script = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
window.show = ({ html, input, result, theme, variables, canCall }) =>
  new Promise((resolve) => {
    document.body.style.margin = '0';
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.style.cssText = 'border: 0; width: 100%; display: block';
    frame.srcdoc = html;
    document.body.replaceChildren(frame);
    const capabilities = canCall ? { serverTools: {}, updateModelContext: { text: {} } } : {};
    const hostContext = { theme, styles: { variables } };
    const bridge = new AppBridge(null, { name: 'host', version: '1' }, capabilities, { hostContext });
    bridge.oncalltool = (params) => window.callTool(params);
    bridge.onupdatemodelcontext = async (params) => { await window.told(params); return {}; };
    bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; };
    bridge.oninitialized = async () => {
      await bridge.sendToolInput({ arguments: input });
      await bridge.sendToolResult(result);
      resolve();
    };
    window.bridge = bridge;
    void bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  });`;

export interface ViewContent {
  readonly html: string;
  readonly input: object;
  readonly result: object;
  readonly theme?: 'light' | 'dark';
  readonly variables?: Readonly<Record<string, string>>;
  /** True if the views that the host shows may call tools. */
  readonly canCall?: boolean;
}

export interface McpHost {
  readonly page: Page;
  readonly view: FrameLocator;
  /** Messages from views to the model. */
  readonly told: object[];
  /** Settles when a view has sent a message to the model. */
  readonly heard: Promise<unknown>;
  /** URLs that the page or a view requested. */
  readonly requests: string[];
  show(shown: ViewContent): Promise<void>;
}

/** Starts a browser; undefined if the machine has none. */
export const openBrowser =
  program === undefined
    ? undefined
    : () => chromium.launch({ executablePath: program, args: browserFlags() });

export async function openHost(
  browser: Browser,
  callTool: (params: { name: string; arguments?: object }) => Promise<ToolAnswer>,
): Promise<McpHost> {
  const { outputFiles } = buildSync({
    stdin: { contents: script, resolveDir: import.meta.dirname, loader: 'js' },
    ...{ bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'silent' },
  });
  const page = await browser.newPage({ viewport: { width: 900, height: 700 } });
  const told: object[] = [];
  const heard = Promise.withResolvers<undefined>();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.exposeFunction('callTool', callTool);
  await page.exposeFunction('told', (params: object) => {
    told.push(params);
    heard.resolve(undefined);
  });
  await page.setContent('<!doctype html><html lang="en"><title>Host</title><body></body></html>');
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  return {
    ...{ page, told, heard: heard.promise, requests, view: page.frameLocator('iframe') },
    show: async (shown) => {
      await page.evaluate(
        (given) => (globalThis as unknown as { show: (what: object) => Promise<void> }).show(given),
        { theme: 'light', variables: {}, canCall: false, ...shown },
      );
    },
  };
}
