/** Collects the tools of every kind, and finds them by name. */
import { coreOperations } from './core.ts';
import { type MacroTool } from './macro.ts';
import { macros } from './macros.ts';
import { type MetaTool, metaTools } from './meta-tools.ts';
import { operationTool, operationTools, type OperationTool } from './tools.ts';

export const isCoreTool = ({ operation }: OperationTool): boolean => coreOperations.has(operation.name);

export type AnyTool = OperationTool | MacroTool | MetaTool;

/** All tools, in the order of every list. */
export const allTools: readonly AnyTool[] = [...macros, ...operationTools, ...metaTools];

const toolByName = new Map(allTools.map((tool) => [tool.name, tool]));

/** Finds a tool by its own name or by the contract's name of its operation. */
export const findTool = (name: string): AnyTool | undefined => toolByName.get(name) ?? operationTool(name);

export const toolsets: readonly string[] = [
  ...new Set(allTools.filter(({ kind }) => kind !== 'meta').map(({ toolset }) => toolset)),
];

/** Returns true if calling the tool calls the API, which then counts the call. */
export function reachesApi(name: string): boolean {
  const tool = findTool(name);
  return tool !== undefined && (tool.kind !== 'meta' || tool.callsOthers);
}
