// Verification of Ed25519 (RFC 8032), which .NET does not have. It handles no secrets, so it need not run in constant time.

using System.Linq;
using System.Numerics;
using System.Security.Cryptography;

namespace Muster.Licenses
{
    internal static class Ed25519
    {
        private static readonly BigInteger P = BigInteger.Pow(2, 255) - 19;
        private static readonly BigInteger L =
            BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493");
        private static readonly BigInteger D = Mod(-121665 * Inverse(121666));
        private static readonly BigInteger Root = BigInteger.ModPow(2, (P - 1) / 4, P);
        private static readonly Point G = BasePoint();

        private sealed class Point
        {
            internal BigInteger X, Y, Z, T;
        }

        /// <summary>Returns true if the 32-byte key signed the message.</summary>
        internal static bool Verify(byte[] publicKey, byte[] message, byte[] signature)
        {
            if (publicKey.Length != 32 || signature.Length != 64) return false;
            var a = Read(publicKey);
            var r = Read(signature.Take(32).ToArray());
            var s = Number(signature.Skip(32).ToArray());
            if (a == null || r == null || s >= L) return false;
            byte[] digest;
            using (var hash = SHA512.Create())
            {
                digest = hash.ComputeHash(signature.Take(32).Concat(publicKey).Concat(message).ToArray());
            }
            var left = Times(s, G);
            var right = Add(r, Times(Number(digest) % L, a));
            return Mod(left.X * right.Z - right.X * left.Z).IsZero && Mod(left.Y * right.Z - right.Y * left.Z).IsZero;
        }

        private static BigInteger Mod(BigInteger value)
        {
            var rest = value % P;
            return rest.Sign < 0 ? rest + P : rest;
        }

        private static BigInteger Inverse(BigInteger value) => BigInteger.ModPow(value, P - 2, P);

        /// <summary>Reads a little-endian number. The appended zero byte keeps it positive.</summary>
        private static BigInteger Number(byte[] bytes) => new BigInteger(bytes.Concat(new byte[] { 0 }).ToArray());

        private static BigInteger? RecoverX(BigInteger y, bool isOdd)
        {
            if (y >= P) return null;
            var square = Mod((y * y - 1) * Inverse(Mod(D * y * y + 1)));
            if (square.IsZero) return isOdd ? (BigInteger?)null : BigInteger.Zero;
            var x = BigInteger.ModPow(square, (P + 3) / 8, P);
            if (!Mod(x * x - square).IsZero) x = Mod(x * Root);
            if (!Mod(x * x - square).IsZero) return null;
            return x.IsEven == isOdd ? P - x : x;
        }

        private static Point Read(byte[] bytes)
        {
            var number = Number(bytes);
            var half = BigInteger.Pow(2, 255);
            var y = number % half;
            var x = RecoverX(y, number >= half);
            return x == null ? null : new Point { X = x.Value, Y = y, Z = 1, T = Mod(x.Value * y) };
        }

        private static Point BasePoint()
        {
            var y = Mod(4 * Inverse(5));
            var x = RecoverX(y, false).Value;
            return new Point { X = x, Y = y, Z = 1, T = Mod(x * y) };
        }

        private static Point Add(Point a, Point b)
        {
            BigInteger s = Mod((a.Y - a.X) * (b.Y - b.X)), t = Mod((a.Y + a.X) * (b.Y + b.X));
            BigInteger u = Mod(2 * a.T * b.T * D), v = Mod(2 * a.Z * b.Z);
            BigInteger e = t - s, f = v - u, g = v + u, h = t + s;
            return new Point { X = Mod(e * f), Y = Mod(g * h), Z = Mod(f * g), T = Mod(e * h) };
        }

        private static Point Times(BigInteger scalar, Point point)
        {
            var result = new Point { X = 0, Y = 1, Z = 1, T = 0 };
            for (; !scalar.IsZero; scalar >>= 1)
            {
                if (!scalar.IsEven) result = Add(result, point);
                point = Add(point, point);
            }
            return result;
        }
    }
}
