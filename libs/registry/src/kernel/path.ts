/** An operation's path is its name with slashes. */
export const pathOf = (operationName: string): string => `/api/${operationName.replaceAll('.', '/')}`;
