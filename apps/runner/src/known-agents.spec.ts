import { expect, it } from '@jest/globals';
import { chooseAgent } from './known-agents.ts';

it.each<[string, string[]]>([
  ['claude', ['claude', '-p', 'Work']],
  ['my-agent', ['/opt/bin/my-agent.sh']],
  ['agent', ['node', '--enable-source-maps', 'dist/agent.mjs', '--fast']],
  ['worker', ['python3', '-u', 'worker.py']],
  ['claude-agent-acp', ['npx', '--yes', '@agentclientprotocol/claude-agent-acp@0.101.0']],
  ['opencode', ['bunx', 'opencode@1.2.3', 'run']],
  ['build', ['uv', 'run', 'python', 'tools/build.py']],
  ['main', ['deno', 'run', '--allow-net', 'main.ts']],
  ['sh', ['sh', '-c', 'claude -p "$(cat)"']],
  ['bash', ['bash', '-lc', 'codex exec']],
  ['node', ['node', '-e', 'run()']],
  ['node', ['node']],
  ['agent', ['']],
])('names the agent %s after the program of its command', (name, command) => {
  expect(chooseAgent({ command, acp: false, name: undefined }, { agent: {} as never })?.name).toBe(name);
});
