/** Every tool there is, of each kind, by its names. */
import { coreOperations } from './core.ts';
import { type MacroTool } from './macro.ts';
import { macros } from './macros.ts';
import { type MetaTool, metaTools } from './meta-tools.ts';
import { operationTool, operationTools, type OperationTool } from './tools.ts';

export const isCore = ({ operation }: OperationTool): boolean => coreOperations.has(operation.name);

export type AnyTool = OperationTool | MacroTool | MetaTool;

/** In the order of every list. */
export const everyTool: readonly AnyTool[] = [...macros, ...operationTools, ...metaTools];

const byName = new Map(everyTool.map((tool) => [tool.name, tool]));

/** By its name in the list, or as the contract writes the operation. */
export const findTool = (name: string): AnyTool | undefined => byName.get(name) ?? operationTool(name);

export const toolsets: readonly string[] = [
  ...new Set(everyTool.filter(({ kind }) => kind !== 'meta').map(({ toolset }) => toolset)),
];

/** Whether a call of the tool is one of the API, which counts it. */
export function reachesApi(name: string): boolean {
  const tool = findTool(name);
  return tool !== undefined && (tool.kind !== 'meta' || tool.callsOthers);
}
