import type { TypedApp } from '../http/typed-app.ts';

/** A part of the application whose routes are signed. */
export type SignedApp = TypedApp;
