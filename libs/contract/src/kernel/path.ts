/** The HTTP path of an operation, which is its name with slashes. */
export const pathOf = (operationName: string): string => `/api/${operationName.replaceAll('.', '/')}`;
