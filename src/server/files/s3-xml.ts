import type { BegunUpload, Part, StoredFile, UploadMarker } from '../ports/bucket.ts'

/**
 * Parses what S3 answers, and no more: elements without attributes or comments, and keys that are percent-encoded, as
 * we request. workerd has no XML parser.
 */

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function readElement(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found === undefined ? null : unescapeXml(found)
}

function readBlocks(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) => inner)
}

type Listed = { files: StoredFile[]; prefixes: string[]; next: string | null; otherClass: number }

export function readList(xml: string): Listed {
  const blocks = readBlocks(xml, 'Contents')
  const otherClass = blocks.filter((block) => (readElement(block, 'StorageClass') ?? 'STANDARD') !== 'STANDARD').length
  const files = blocks.map((block) => ({
    key: decodeKey(readElement(block, 'Key')),
    size: Number(readElement(block, 'Size')),
    modifiedAt: Date.parse(readElement(block, 'LastModified') ?? ''),
    etag: readElement(block, 'ETag') ?? '',
  }))
  const prefixes = readBlocks(xml, 'CommonPrefixes').map((block) => decodeKey(readElement(block, 'Prefix')))
  const more = readElement(xml, 'IsTruncated') === 'true'
  return { files, prefixes, next: more ? readElement(xml, 'NextContinuationToken') : null, otherClass }
}

export function readParts(xml: string): { parts: Part[]; next: string | null } {
  const parts = readBlocks(xml, 'Part').map((block) => ({
    part: Number(readElement(block, 'PartNumber')),
    size: Number(readElement(block, 'Size')),
    etag: readElement(block, 'ETag') ?? '',
  }))
  const more = readElement(xml, 'IsTruncated') === 'true'
  return { parts, next: more ? readElement(xml, 'NextPartNumberMarker') : null }
}

export function readUploads(xml: string): { uploads: BegunUpload[]; next: UploadMarker | null } {
  const uploads = readBlocks(xml, 'Upload').map((block) => ({
    key: decodeKey(readElement(block, 'Key')),
    uploadId: readElement(block, 'UploadId') ?? '',
    begunAt: Date.parse(readElement(block, 'Initiated') ?? ''),
  }))
  const more = readElement(xml, 'IsTruncated') === 'true'
  const next = {
    key: decodeKey(readElement(xml, 'NextKeyMarker')),
    uploadId: readElement(xml, 'NextUploadIdMarker') ?? '',
  }
  return { uploads, next: more ? next : null }
}

export function writeParts(parts: Part[]): string {
  const inner = parts.map(
    ({ part, etag }) => `<Part><PartNumber>${part}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload>${inner.join('')}</CompleteMultipartUpload>`
}

export function writeDeletion(keys: string[]): string {
  const inner = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`)
  return `<Delete><Quiet>true</Quiet>${inner.join('')}</Delete>`
}

/** S3 writes a space as +, R2 as %20; both write a plus as %2B. */
function decodeKey(encoded: string | null): string {
  return decodeURIComponent((encoded ?? '').replaceAll('+', ' '))
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    name ? (NAMED[name] ?? whole) : String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  )
}

/** Control characters as references: some programs name files with them. */
function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what we escape
  return text.replace(/[&<>"'\u0000-\u001f]/g, (char) => `&#${char.charCodeAt(0)};`)
}
