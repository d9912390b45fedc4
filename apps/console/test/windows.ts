import { afterEach, expect } from '@jest/globals';
import { type BrowserContextOptions, type Page } from 'playwright-core';
import { type House, type Window } from './house.ts';

/** The windows of a test. It fails on a fault on any of their pages, and closes them at the end. */
export interface Windows {
  readonly keep: (window: Window) => Window;
  /** Opens an isolated window, signed in by the token. */
  readonly open: (token: string, address: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Returns the kept windows. The test must then check their faults and close them itself. */
  readonly take: () => Window[];
}

export function useWindows(house: House): Windows {
  const windows: Window[] = [];
  const keep = (window: Window): Window => {
    windows.push(window);
    return window;
  };
  const take = (): Window[] => windows.splice(0);
  afterEach(async () => {
    const all = take();
    expect(all.flatMap(({ faults }) => faults)).toEqual([]);
    await Promise.all(all.map((window) => window.close()));
  });
  return { keep, take, open: async (...where) => keep(await house.open(...where)).page };
}
