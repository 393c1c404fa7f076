/**
 * Says whether `value` is a multiple of `divisor` as the decimal numbers that were written.
 *
 * Binary division gets this wrong: 19.99 / 0.01 gives 1998.9999999999998.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const a = decompose(value);
  const b = decompose(divisor);
  // Both exponents are within ±400, so the powers stay small.
  const exponent = Math.min(a.exponent, b.exponent);
  const left = a.digits * 10n ** BigInt(a.exponent - exponent);
  const right = b.digits * 10n ** BigInt(b.exponent - exponent);
  return left % right === 0n;
}

function decompose(value: number): { digits: bigint; exponent: number } {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
