/** The tool lists that a connection can ask for. */
export const modes = ['full', 'core', 'search'] as const;
export type ToolListMode = (typeof modes)[number];
