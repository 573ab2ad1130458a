/** An input with its files as base64, which is how they are sent. */
export async function encodeFiles(input: object): Promise<object> {
  const encoded = { ...input } as Record<string, unknown>;
  for (const [name, value] of Object.entries(encoded)) {
    if (value instanceof ArrayBuffer) encoded[name] = toBase64(new Uint8Array(value));
    else if (ArrayBuffer.isView(value))
      encoded[name] = toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    else if (value instanceof Blob) encoded[name] = toBase64(new Uint8Array(await value.arrayBuffer()));
  }
  return encoded;
}

/** A call takes so many arguments in every engine. */
const pieceLength = 8192;

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += pieceLength)
    text += String.fromCharCode(...bytes.subarray(at, at + pieceLength));
  return btoa(text);
}
