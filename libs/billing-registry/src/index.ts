/** The operations about seats and their prices, and those for operators of the installation. */
import { admin } from './admin.ts';
import { billing } from './billing.ts';

export const billingRegistry = { billing, admin };
export type BillingRegistry = typeof billingRegistry;
