/**
 * An agent's connection to the MCP gateway in core mode. It counts the calls and the tokens of the
 * answers that a model reads.
 */
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const encoding = new Tiktoken(o200k);

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** All calls of a day, by either agent. */
export class Tally {
  readonly calls: string[] = [];
  /** Tokens of the answer of each call. */
  readonly answerTokens: number[] = [];
}

export interface McpLine {
  /**
   * Calls a tool by its name, and returns a refusal as an answer. Throws if the gateway's answer has no
   * result.
   */
  readonly call: (name: string, args?: Readonly<Record<string, unknown>>) => Promise<ToolResult>;
}

interface Answered {
  readonly result?: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text?: string }[];
    readonly structuredContent?: Readonly<Record<string, unknown>>;
  };
}

const version = '2025-11-25';

export function openLine(mcpUrl: string, token: string, tally: Tally): McpLine {
  const url = new URL(mcpUrl);
  url.searchParams.set('mode', 'core');
  return {
    call: async (name, args = {}) => {
      tally.calls.push(name);
      const params = { name, arguments: args };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': version },
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: tally.calls.length, method: 'tools/call', params }),
      });
      const answer = await response.text();
      const { result } = (response.ok ? JSON.parse(answer) : {}) as Answered;
      if (result === undefined) throw new Error(`${name} was answered ${response.status}: ${answer}`);
      const text = result.content.map((content) => content.text ?? '').join('\n');
      tally.answerTokens.push(encoding.encode(text).length);
      return { isError: result.isError === true, text, value: result.structuredContent ?? {} };
    },
  };
}
