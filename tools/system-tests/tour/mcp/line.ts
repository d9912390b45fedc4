/**
 * A connection to the MCP gateway in core mode. It counts the calls and the tokens of the answers that a model
 * reads.
 */
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { type Instance } from '../instance.ts';
import { type Teammate } from '../team.ts';

const encoding = new Tiktoken(o200k);

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
}

export interface CountedCall {
  readonly caller: string;
  readonly tool: string;
  /** Tokens of the answer. */
  readonly tokens: number;
}

export interface McpCaller {
  /** Calls a tool. Returns the text of its answer; throws if the call is refused. */
  readonly call: (tool: string, args?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Calls a tool that has to refuse the call. Returns the text of the refusal. */
  readonly callRefused: McpCaller['call'];
}

const version = '2025-11-25';

/** Opens the connection of a member or an agent. Its calls are added to `calls`. */
export function openLine({ mcpUrl }: Instance, { name, token }: Teammate, calls: CountedCall[]): McpCaller {
  const url = new URL(mcpUrl);
  url.searchParams.set('mode', 'core');
  const answerOf =
    (isRefused: boolean): McpCaller['call'] =>
    async (tool, args = {}) => {
      const params = { name: tool, arguments: args };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': version },
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: calls.length + 1, method: 'tools/call', params }),
      });
      const answer = await response.text();
      const { result } = (response.ok ? JSON.parse(answer) : {}) as { readonly result?: ToolResult };
      const text = result?.content.map((content) => content.text ?? '').join('\n') ?? answer;
      calls.push({ caller: name, tool, tokens: encoding.encode(text).length });
      if (result === undefined || (result.isError ?? false) !== isRefused)
        throw new Error(`${tool} was answered ${response.status}: ${text}`);
      return text;
    };
  return { call: answerOf(false), callRefused: answerOf(true) };
}
