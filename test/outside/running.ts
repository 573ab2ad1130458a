import { startOutside } from './service.ts';

/** The one service that all claims of this folder are held against; people and companies of each section are its own. */
export const service = await startOutside();
