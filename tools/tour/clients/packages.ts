/**
 * Packages that only `npm run clients` needs. They have exact versions and a separate folder, outside the
 * project's packages.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { dataFolder } from '@muster/tools';

export const packages = {
  '@modelcontextprotocol/sdk': '1.32.2',
  '@modelcontextprotocol/client': '2.4.0',
  '@modelcontextprotocol/inspector': '2.12.0',
  ai: '7.0.173',
  '@ai-sdk/mcp': '2.0.99',
  '@ai-sdk/openai': '4.0.118',
  '@openai/agents': '0.20.0',
  '@langchain/mcp-adapters': '1.1.4',
  '@langchain/core': '1.4.0',
  '@langchain/openai': '1.6.0',
  langchain: '1.5.14',
  mcporter: '0.12.3',
  '@anthropic-ai/claude-code': '2.1.330',
  '@openai/codex': '0.169.0',
  '@google/gemini-cli': '0.61.0',
  'opencode-ai': '1.18.33',
  '@github/copilot': '1.0.102',
} as const;

export const clientsFolder = path.join(dataFolder, 'clients');

/** Installs missing packages without running their install scripts. */
export async function installClients(): Promise<void> {
  const wanted = `${JSON.stringify({ private: true, type: 'module', dependencies: packages }, null, 2)}\n`;
  const manifest = path.join(clientsFolder, 'package.json');
  const isThere = existsSync(path.join(clientsFolder, 'node_modules/.package-lock.json'));
  const found = await readFile(manifest, 'utf8').catch(() => '');
  if (isThere && found === wanted) return;
  await mkdir(clientsFolder, { recursive: true });
  await writeFile(manifest, wanted);
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: clientsFolder,
    timeout: 600_000,
  });
}
