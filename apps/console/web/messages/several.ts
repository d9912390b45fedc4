export const pluralize = (count: number, one: string, more: string): string =>
  `${count.toLocaleString()} ${count === 1 ? one : more}`;
