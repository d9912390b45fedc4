/** Runs the command line in a separate terminal, by a program that most systems have. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { it } from '@jest/globals';
import { programEnvironment } from '@muster/testing';
import { mainFile } from './muster.ts';

const script = '/usr/bin/script';

/** Skips tests that need a terminal if the program `script` is missing. It is part of util-linux. */
export const itOnTerminal = process.platform === 'linux' && existsSync(script) ? it : it.skip;

export interface TestTerminal {
  /** Returns all output of the command so far. */
  screenText(): string;
  waitForText(what: RegExp): Promise<void>;
  typeText(text: string): void;
  /** Resolves with the exit code of the command. */
  readonly exitCode: Promise<number>;
}

export const openTerminal = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  columns?: number,
): TestTerminal => openTerminalOf([process.execPath, mainFile, ...args], env, columns);

/** Opens a terminal in which another program runs. */
export function openTerminalOf(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  columns = 120,
): TestTerminal {
  const line = [`stty rows 40 cols ${columns};`, ...command].join(' ');
  const child = spawn(script, ['-qec', line, '/dev/null'], {
    env: { ...programEnvironment(), TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  return {
    screenText: () => shown,
    waitForText: (what) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!what.test(shown)) return;
          child.stdout.off('data', look);
          resolve();
        };
        child.stdout.on('data', look);
        look();
      }),
    typeText: (text) => void child.stdin.write(text),
    exitCode: once(child, 'exit').then(([code]) => code as number),
  };
}
