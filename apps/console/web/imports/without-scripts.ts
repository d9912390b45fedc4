/**
 * Configures zod before any schema is created: its validators must not be compiled from text, which the
 * content security policy refuses.
 */
import { z } from 'zod';

z.config({ jitless: true });
