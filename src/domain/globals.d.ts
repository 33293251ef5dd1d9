/** The only globals that the rules use. Browsers, workerd, and Node all have them. No clock, network, or document. */
declare class TextEncoder {
  encode(text: string): Uint8Array
}

declare class URL {
  constructor(url: string)
  static canParse(url: string): boolean
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly hostname: string
  readonly port: string
  readonly href: string
  hash: string
}

declare class URLSearchParams {
  readonly size: number
  get(name: string): string | null
  set(name: string, value: string): void
}
