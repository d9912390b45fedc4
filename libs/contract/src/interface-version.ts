/**
 * The version of the public interface: operations, parameters, results and errors. It follows semantic
 * versioning and changes only with the contract. Releases of the product have their own version,
 * `productVersion`.
 */
export const interfaceVersion = '1.0.0';
