/** All that the rules need besides the language. Browsers, workerd, and Node each have it; here is no clock, network, or document. */
declare class TextEncoder {
  encode(text: string): Uint8Array
}

declare class URLSearchParams {
  readonly size: number
  get(name: string): string | null
  set(name: string, value: string): void
}
