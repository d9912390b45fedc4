/** The columns of tables of stories. */
export const tableColumns = [
  ...(['status', 'priority', 'assignee', 'agent', 'epic', 'labels'] as const),
  ...(['dueDate', 'estimate', 'children', 'project', 'created', 'updated'] as const),
] as const;
export type TableColumn = (typeof tableColumns)[number];

const defaultColumns: readonly TableColumn[] = [
  ...(['status', 'priority', 'assignee', 'epic', 'labels', 'dueDate', 'updated'] as const),
];
const defaultColumnsOfAll: readonly TableColumn[] = [
  ...(['status', 'priority', 'assignee', 'labels', 'dueDate', 'updated'] as const),
];

/** Returns the known columns among these names, or the default ones if there are none. */
export function columnsOf(names: readonly string[] | undefined, isOfAllProjects: boolean) {
  const known = names?.filter((name): name is TableColumn =>
    (tableColumns as readonly string[]).includes(name),
  );
  if (known !== undefined && known.length > 0) return [...new Set(known)];
  return isOfAllProjects ? defaultColumnsOfAll : defaultColumns;
}
