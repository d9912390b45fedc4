// JSON (RFC 8259), because .NET Framework, Mono and .NET have no common JSON reader.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    /// <summary>Reads JSON: objects become dictionaries, arrays lists, and numbers doubles. Invalid JSON becomes null.</summary>
    internal sealed class Json
    {
        private const int MostDepth = 64;
        private static readonly Regex Number = new Regex(@"\G-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?");
        private readonly string text;
        private int at;

        private Json(string text)
        {
            this.text = text;
        }

        internal static Dictionary<string, object> ObjectIn(byte[] bytes)
        {
            try
            {
                var reader = new Json(new UTF8Encoding(false, true).GetString(bytes));
                var value = reader.Value(0);
                reader.Skip();
                return reader.at == reader.text.Length ? value as Dictionary<string, object> : null;
            }
            catch (FormatException)
            {
                return null;
            }
            catch (ArgumentException)
            {
                // The bytes are not valid UTF-8.
                return null;
            }
        }

        private static Exception Wrong() => new FormatException("no JSON");

        private void Skip()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        }

        private bool Takes(char expected)
        {
            Skip();
            if (at >= text.Length || text[at] != expected) return false;
            at++;
            return true;
        }

        private object Value(int depth)
        {
            if (depth > MostDepth) throw Wrong();
            if (Takes('{')) return Members(depth + 1);
            if (Takes('[')) return Items(depth + 1);
            if (Takes('"')) return Text();
            foreach (var word in new[] { "true", "false", "null" })
            {
                if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) continue;
                at += word.Length;
                return word == "null" ? null : (object)(word == "true");
            }
            var number = Number.Match(text, at);
            if (!number.Success) throw Wrong();
            at += number.Length;
            return double.Parse(number.Value, NumberStyles.Float, CultureInfo.InvariantCulture);
        }

        private Dictionary<string, object> Members(int depth)
        {
            var members = new Dictionary<string, object>(StringComparer.Ordinal);
            if (Takes('}')) return members;
            do
            {
                if (!Takes('"')) throw Wrong();
                var name = Text();
                if (!Takes(':')) throw Wrong();
                members[name] = Value(depth);
            } while (Takes(','));
            if (!Takes('}')) throw Wrong();
            return members;
        }

        private List<object> Items(int depth)
        {
            var items = new List<object>();
            if (Takes(']')) return items;
            do items.Add(Value(depth));
            while (Takes(','));
            if (!Takes(']')) throw Wrong();
            return items;
        }

        private string Text()
        {
            var made = new StringBuilder();
            while (at < text.Length)
            {
                var next = text[at++];
                if (next == '"') return made.ToString();
                if (next < ' ') throw Wrong();
                made.Append(next == '\\' ? Escaped() : next);
            }
            throw Wrong();
        }

        private char Escaped()
        {
            if (at >= text.Length) throw Wrong();
            var place = "\"\\/bfnrt".IndexOf(text[at++]);
            if (place >= 0) return "\"\\/\b\f\n\r\t"[place];
            ushort code;
            if (text[at - 1] != 'u' || at + 4 > text.Length ||
                !ushort.TryParse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
            {
                throw Wrong();
            }
            at += 4;
            return (char)code;
        }

        internal static string Write(object value)
        {
            if (value == null) return "null";
            if (value is bool) return (bool)value ? "true" : "false";
            if (value is string) return Quoted((string)value);
            if (value is double) return ((double)value).ToString("R", CultureInfo.InvariantCulture);
            var members = value as IDictionary<string, object>;
            if (members != null) return "{" + Joined(members, one => Quoted(one.Key) + ":" + Write(one.Value)) + "}";
            return "[" + Joined((IEnumerable<object>)value, Write) + "]";
        }

        private static string Joined<T>(IEnumerable<T> all, Func<T, string> write)
        {
            var parts = new List<string>();
            foreach (var one in all) parts.Add(write(one));
            return string.Join(",", parts);
        }

        private static string Quoted(string text)
        {
            var made = new StringBuilder("\"");
            foreach (var one in text)
            {
                if (one == '"' || one == '\\') made.Append('\\').Append(one);
                // Unpaired surrogates cannot be encoded in UTF-8.
                else if (one < ' ' || char.IsSurrogate(one)) made.AppendFormat(CultureInfo.InvariantCulture, "\\u{0:x4}", (int)one);
                else made.Append(one);
            }
            return made.Append('"').ToString();
        }
    }
}
