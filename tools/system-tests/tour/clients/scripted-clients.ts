/**
 * Short agents built with SDKs that have their own agent loop. The loop gives the tools to the model and
 * makes the calls that the model chooses.
 */
import { type packages } from './packages.ts';

export interface NamedClient {
  readonly name: string;
  readonly package: keyof typeof packages;
}

/**
 * A client that is a Node module. It runs in the folder of the packages, with URL, TOKEN, MODEL and PROMPT in
 * its environment.
 */
export interface Scripted extends NamedClient {
  readonly script: string;
}

const place = `const { URL: place, TOKEN, MODEL, PROMPT } = process.env;
const headers = { Authorization: 'Bearer ' + TOKEN };
`;

export const scripted: readonly Scripted[] = [
  {
    name: 'OpenAI Agents',
    package: '@openai/agents',
    script: `import { Agent, MCPServerStreamableHttp, OpenAIProvider, Runner } from '@openai/agents';
${place}const muster = new MCPServerStreamableHttp({ url: place, requestInit: { headers } });
await muster.connect();
const agent = new Agent({ name: 'worker', model: 'stub', mcpServers: [muster], mcpConfig: { convertSchemasToStrict: true } });
const modelProvider = new OpenAIProvider({ apiKey: 'stub', baseURL: MODEL + '/v1' });
const { finalOutput } = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, PROMPT);
console.log(finalOutput);
await muster.close();`,
  },
  {
    name: 'AI SDK',
    package: 'ai',
    script: `import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
${place}const muster = await createMCPClient({ transport: { type: 'http', url: place, headers } });
const model = createOpenAI({ apiKey: 'stub', baseURL: MODEL + '/v1' })('stub');
const { text } = await generateText({ model, tools: await muster.tools(), stopWhen: stepCountIs(8), prompt: PROMPT });
console.log(text);
await muster.close();`,
  },
  {
    name: 'LangChain',
    package: 'langchain',
    script: `import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
${place}const muster = new MultiServerMCPClient({ muster: { transport: 'http', url: place, headers } });
const model = new ChatOpenAI({ model: 'stub', apiKey: 'stub', configuration: { baseURL: MODEL + '/v1' } });
const agent = createAgent({ model, tools: await muster.getTools() });
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: PROMPT }] });
console.log(messages.at(-1).content);
await muster.close();`,
  },
];
